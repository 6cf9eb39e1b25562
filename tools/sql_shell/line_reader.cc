#include "tools/sql_shell/line_reader.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <cstddef>

namespace kymo::tools {
namespace {

constexpr int kMostHistory = 1000;

class PlainReader : public LineReader {
 public:
  explicit PlainReader(bool shows_prompt) : shows_prompt_(shows_prompt) {}
  ~PlainReader() override { free(line_); }

  std::optional<std::string> Read(const std::string& prompt) override {
    if (shows_prompt_) {
      fputs(prompt.c_str(), stderr);
      fflush(stderr);
    }
    const ssize_t size = getline(&line_, &capacity_, stdin);
    if (size < 0) return std::nullopt;
    std::string line(line_, static_cast<size_t>(size));
    if (line.ends_with('\n')) line.pop_back();
    return line;
  }
  void Remember(const std::string&) override {}

 private:
  const bool shows_prompt_;
  char* line_ = nullptr;
  size_t capacity_ = 0;
};

// The part of readline's interface that libedit has and that we call.
struct Libedit {
  char* (*readline)(const char* prompt) = nullptr;
  int (*add_history)(const char* line) = nullptr;
  int (*read_history)(const char* path) = nullptr;
  int (*write_history)(const char* path) = nullptr;
  void (*stifle_history)(int most) = nullptr;
  void (*prep_terminal)(int meta) = nullptr;
  int (*parse_and_bind)(const char* line) = nullptr;
  char** (*completion_matches)(const char* text,
                               char* (*generate)(const char*, int)) = nullptr;
  // Variables of the library.
  char** (**attempted_completion)(const char* text, int begin,
                                  int end) = nullptr;
  int* attempted_completion_over = nullptr;

  bool Load() {
    void* const library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    return Find(library, "readline", readline) &&
           Find(library, "add_history", add_history) &&
           Find(library, "read_history", read_history) &&
           Find(library, "write_history", write_history) &&
           Find(library, "stifle_history", stifle_history) &&
           Find(library, "rl_prep_terminal", prep_terminal) &&
           Find(library, "rl_parse_and_bind", parse_and_bind) &&
           Find(library, "rl_completion_matches", completion_matches) &&
           Find(library, "rl_attempted_completion_function",
                attempted_completion) &&
           Find(library, "rl_attempted_completion_over",
                attempted_completion_over);
  }

 private:
  template <typename Symbol>
  static bool Find(void* library, const char* name, Symbol& symbol) {
    symbol = reinterpret_cast<Symbol>(dlsym(library, name));
    return symbol != nullptr;
  }
};

// The library calls back without an argument of ours.
const Libedit* g_libedit = nullptr;
const std::vector<std::string>* g_words = nullptr;

char* NextCompletion(const char* text, int state) {
  static std::vector<std::string>& found = *new std::vector<std::string>();
  if (state == 0) found = Completions(*g_words, text);
  const auto at = static_cast<size_t>(state);
  return at < found.size() ? strdup(found[at].c_str()) : nullptr;
}

char** Complete(const char* text, int, int) {
  *g_libedit->attempted_completion_over = 1;  // no names of files
  return g_libedit->completion_matches(text, NextCompletion);
}

class EditedReader : public LineReader {
 public:
  EditedReader(const Libedit& libedit, const LineReaderOptions& options)
      : libedit_(libedit), options_(options) {
    g_libedit = &libedit_;
    g_words = &options_.words;
    *libedit_.attempted_completion = Complete;
    libedit_.stifle_history(kMostHistory);
    if (!options_.history_path.empty()) {
      libedit_.read_history(options_.history_path.c_str());
    }
  }
  ~EditedReader() override {
    if (!options_.history_path.empty()) {
      libedit_.write_history(options_.history_path.c_str());
    }
    *libedit_.attempted_completion = nullptr;
    g_libedit = nullptr;
    g_words = nullptr;
  }

  std::optional<std::string> Read(const std::string& prompt) override {
    // A Ctrl-D that was typed while a query ran comes as a NUL. The library
    // takes NUL for Ctrl-V whenever it has changed the terminal's mode.
    libedit_.prep_terminal(1);
    libedit_.parse_and_bind("bind ^@ em-delete-or-list");
    char* const line = libedit_.readline(prompt.c_str());
    if (line == nullptr) return std::nullopt;
    std::string text = line;
    free(line);
    return text;
  }
  void Remember(const std::string& statement) override {
    libedit_.add_history(statement.c_str());
  }

 private:
  const Libedit libedit_;
  const LineReaderOptions options_;
};

}  // namespace

std::vector<std::string> Completions(const std::vector<std::string>& words,
                                     const std::string& text) {
  std::vector<std::string> found;
  for (const std::string& word : words) {
    if (strncasecmp(word.c_str(), text.c_str(), text.size()) == 0) {
      found.push_back(word);
    }
  }
  return found;
}

std::unique_ptr<LineReader> MakeLineReader(const LineReaderOptions& options) {
  const bool is_terminal = isatty(STDIN_FILENO) != 0;
  Libedit libedit;
  if (is_terminal && isatty(STDOUT_FILENO) != 0 && libedit.Load()) {
    return std::make_unique<EditedReader>(libedit, options);
  }
  return std::make_unique<PlainReader>(is_terminal);
}

}  // namespace kymo::tools
