"""Agents made from a short script of behaviours, for tests of orchestrators and of tests.

Steps come in, a program that carries them out goes out. Uses agents alone.
"""
