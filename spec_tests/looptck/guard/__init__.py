"""The guard: a command that runs foreign code does so in a second process, and a first one watches how that ends.

A driver, a loop or a C library can end the process that it runs in, with any status and at any time. The watching
process imports nothing but the standard library, so that nothing of theirs can end it.
"""
