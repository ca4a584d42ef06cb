package textdiff

// frontier holds, for the diagonals that a search has reached, the furthest place in a on each. A diagonal is the place
// in a minus the place in b. One spare diagonal on each side keeps the neighbours readable.
type frontier struct {
	x        []int
	base     int
	min, max int
}

func newFrontier(diagonal, limit int) *frontier {
	return &frontier{x: make([]int, 2*limit+5), base: diagonal - limit - 2, min: diagonal, max: diagonal}
}

func (f *frontier) get(d int) int  { return f.x[d-f.base] }
func (f *frontier) set(d, x int)   { f.x[d-f.base] = x }
func (f *frontier) has(d int) bool { return f.min <= d && d <= f.max }
func (f *frontier) widen(lo, hi, outside int) {
	if f.min > lo {
		f.min--
		f.set(f.min-1, outside)
	} else {
		f.min++
	}
	if f.max < hi {
		f.max++
		f.set(f.max+1, outside)
	} else {
		f.max--
	}
}

// meet searches a shortest edit script of a and b from both ends at once (Myers 1986) and returns a point on it at
// which to cut, with exact true. When the two searches have not met after limit edits each, it returns the furthest
// point that either has reached, with exact false.
//
// a and b must differ at both ends and neither may be empty. The point is then neither the start nor the end.
func meet(a, b []int32, limit int) (i, j int, exact bool) {
	n, m := len(a), len(b)
	forward, backward := newFrontier(0, limit), newFrontier(n-m, limit)
	forward.set(0, 0)
	backward.set(n-m, n)
	odd := (n-m)%2 != 0
	for range limit {
		forward.widen(-m, n, -1)
		for d := forward.max; d >= forward.min; d -= 2 {
			x := max(forward.get(d-1)+1, forward.get(d+1))
			for x < n && x-d < m && a[x] == b[x-d] {
				x++
			}
			forward.set(d, x)
			if odd && backward.has(d) && backward.get(d) <= x {
				return x, x - d, true
			}
		}
		backward.widen(-m, n, n+m+1)
		for d := backward.max; d >= backward.min; d -= 2 {
			x := min(backward.get(d-1), backward.get(d+1)-1)
			for x > 0 && x-d > 0 && a[x-1] == b[x-d-1] {
				x--
			}
			backward.set(d, x)
			if !odd && forward.has(d) && x <= forward.get(d) {
				return x, x - d, true
			}
		}
	}
	i, j = furthest(forward, backward, n, m)
	return i, j, false
}

// furthest returns the point that is furthest from the end it was reached from. Points off the grid, which the search
// may touch, are not looked at.
func furthest(forward, backward *frontier, n, m int) (i, j int) {
	best := -1
	consider := func(x, y, gained int) {
		inside := x >= 0 && y >= 0 && x <= n && y <= m && x+y > 0 && x+y < n+m
		if inside && gained > best {
			i, j, best = x, y, gained
		}
	}
	for d := forward.max; d >= forward.min; d -= 2 {
		x := forward.get(d)
		consider(x, x-d, 2*x-d)
	}
	for d := backward.max; d >= backward.min; d -= 2 {
		x := backward.get(d)
		consider(x, x-d, n+m-2*x+d)
	}
	if best < 0 {
		// Every search has at least the points of pure deletion on the grid; this keeps the cut sound if it had not.
		return 1, 0
	}
	return i, j
}
