// The precompiled header belongs to a target that has a source; this is that source.
