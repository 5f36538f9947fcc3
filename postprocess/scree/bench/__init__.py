"""What `scree bench` and scree_bench show and write: tables, CSV and results.json from the rows that the C++ program prints as lines
of JSON, and studies on several numbers of ranks (docs/benchmarks.md). Needs nothing but Python itself, also on clusters."""
