"""The folder of a run: settings, lock, going on, growing, and the seeds that follow from the run's."""
