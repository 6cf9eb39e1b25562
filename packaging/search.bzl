"""Where libraries that other people's programs load look for their own ones."""

# The loader loads one library of a name for the whole process. So a program
# that uses libz gets the one that libkymo.so found. If that were our copy, it
# could be older than the program needs. So the system's libraries come before
# the copies that packages bring. Folders of other machines are passed over.
SEARCHED_BY_LIBRARIES = ":".join(
    # Kymo's own libraries, and Abseil's, whose names have their release.
    ["$$ORIGIN", "/usr/local/lib"] +
    [
        folder + machine + "-linux-gnu"
        for machine in ["x86_64", "aarch64"]
        for folder in ["/usr/local/lib/", "/lib/", "/usr/lib/"]
    ] +
    ["/lib64", "/usr/lib64", "/usr/lib", "$$ORIGIN/private"],
)
