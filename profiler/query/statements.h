// statements.h - takes a text apart into statements of SQL.
//
//   const StatementList list = SplitStatements("select 1; select ';'; sel");
//   list.statements     // {"select 1", "select ';'"}
//   list.rest           // "sel": no semicolon ends it
//
// Semicolons in texts, names and comments end nothing. Statements of spaces and
// comments alone are left out.
#ifndef KYMO_PROFILER_QUERY_STATEMENTS_H_
#define KYMO_PROFILER_QUERY_STATEMENTS_H_

#include <string_view>
#include <vector>

namespace kymo::query {

struct StatementList {
  std::vector<std::string_view> statements;
  std::string_view rest;  // empty: nothing but spaces and comments
};

StatementList SplitStatements(std::string_view sql);

}  // namespace kymo::query

#endif  // KYMO_PROFILER_QUERY_STATEMENTS_H_
