# Filled below, one check at a time.
