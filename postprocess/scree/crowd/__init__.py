"""What pictures and reports of crowds share: plans with exits and floors, curves of people who leave, density maps."""
