"""The commands of the lab, which its plug-in names."""
