// http.h - as much of an HTTP server as an endpoint for profiles needs: it
// answers GET requests, each on a connection of its own.
//
//   int port = 6060;
//   const int listener = http::Listen(port);
//   for (;;) http::ServeOne(listener, [](const http::Request& request) {
//     return http::Answer{.body = "this is " + request.path + "\n"};
//   });
//
// It listens on the loopback address alone: a profile tells much about a
// program, and nothing here asks who wants it.
#ifndef KYMO_EXAMPLES_PROFILE_ENDPOINT_HTTP_H_
#define KYMO_EXAMPLES_PROFILE_ENDPOINT_HTTP_H_

#include <functional>
#include <map>
#include <string>

namespace http {

struct Request {
  std::string path;                          // "/debug/pprof/profile"
  std::map<std::string, std::string> query;  // {"seconds", "5"}
};

struct Answer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

// False if it is no whole GET request.
bool Parse(const std::string& text, Request& request);

// A listening socket, and its port; -1 with errno. Port 0: any.
int Listen(int& port);

// Answers one connection.
void ServeOne(int listener,
              const std::function<Answer(const Request&)>& handler);

}  // namespace http

#endif  // KYMO_EXAMPLES_PROFILE_ENDPOINT_HTTP_H_
