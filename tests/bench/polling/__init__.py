"""The same world watched four ways: ours without and with experience, naively, serially.

A simulated hour takes a second or two: the clock jumps from event to event. The service, its
limiter, its renders and the people are simulated; the bucket is the real script on a real Valkey,
which is told the simulated time, and what is chosen is chosen by the real rule.
"""
