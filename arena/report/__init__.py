"""Reports: sections, tables and plots as files."""
