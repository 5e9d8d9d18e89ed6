"""What is known of a job: runs, timelines, lanes, devices, laps, health."""
