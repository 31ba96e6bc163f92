"""Speed of the games beside other libraries."""
