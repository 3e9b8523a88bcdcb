"""Tests of the plugin, one file for each option or fixture."""
