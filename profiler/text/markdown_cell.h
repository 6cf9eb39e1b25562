// markdown_cell.h - names in tables of Markdown.
//
//   MarkdownCell("vector<int>|")   // "vector\\<int\\>\\|"
//   MarkdownCell("@all")           // "<span>@</span>all": nobody is mentioned
//
// Escapes the characters that mean something in Markdown, or to the forges that
// show it. Control characters stay: take VisibleText first.
//
// Threads: a pure function.
#ifndef KYMO_PROFILER_TEXT_MARKDOWN_CELL_H_
#define KYMO_PROFILER_TEXT_MARKDOWN_CELL_H_

#include <string>
#include <string_view>

namespace kymo {

std::string MarkdownCell(std::string_view text);

}  // namespace kymo

#endif  // KYMO_PROFILER_TEXT_MARKDOWN_CELL_H_
