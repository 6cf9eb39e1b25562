// standard_streams.h - makes it safe to be started with closed streams.
//
//   int main(int argc, char** argv) {
//     kymo::tools::OccupyStandardStreams();
//
// A command may be started with standard input, output or error closed
// (`2>&-`). The numbers of closed streams would go to the next files that the
// command, or a library that it uses, opens.
#ifndef KYMO_TOOLS_COMMAND_LINE_STANDARD_STREAMS_H_
#define KYMO_TOOLS_COMMAND_LINE_STANDARD_STREAMS_H_

namespace kymo::tools {

// Gives each closed stream a descriptor that can neither be read nor written
// (EBADF, as if it were closed). Programs that this process executes do not
// inherit it: what was closed is closed for them.
void OccupyStandardStreams();

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_STANDARD_STREAMS_H_
