"""Reports of every kind: sections of text, tables and plots, written as Markdown, CSV, JSON and PNG."""
