"""Writes megabytes to both streams in turn, without a line end; then says that it is done."""

import os
import sys

block = b"z" * 65536
for _ in range(int(sys.argv[1]) * 8):
    os.write(2, block)
    os.write(1, block)
os.write(1, b"done")
