// user_folder.h - paths as the user of a command means them.
//
// `bazel run` starts a command in its own runfiles and says where the user
// stood.
#ifndef KYMO_TOOLS_COMMAND_LINE_USER_FOLDER_H_
#define KYMO_TOOLS_COMMAND_LINE_USER_FOLDER_H_

#include <string>

namespace kymo::tools {

// Changes to the folder where the user stood, if `bazel run` moved us into the
// command's own runfiles.
void GoWhereTheUserStood();

// A path that the user typed, made absolute against the folder where the user
// stood.
std::string UserPath(const std::string& path);

// The path of UserPath for the user to read: relative to the folder where the
// user stood, if it is inside, and without a slash at its end.
std::string ShownPath(const std::string& path);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_USER_FOLDER_H_
