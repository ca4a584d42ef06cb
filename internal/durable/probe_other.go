//go:build !linux

package durable

func probeExchange(string, string) bool { return false }

func probeReflink(string, string) bool { return false }
