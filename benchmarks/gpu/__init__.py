"""All that can be tested and measured on a GPU, in one command: `make gpu`, or `python -m benchmarks.gpu`."""
