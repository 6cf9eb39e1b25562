// view_page.h - shows a page in the user's browser.
//
//   Say(ViewPage("kymo-out/app/report.html"));
//   // "the page is file:///home/me/kymo-out/app/report.html"
//
// On a machine with a screen (DISPLAY or WAYLAND_DISPLAY is set) xdg-open opens
// it, and nobody waits for the browser. Elsewhere the text says what to do.
// Threads: one at a time, as it reads the environment.
#ifndef KYMO_TOOLS_DELIVER_VIEW_PAGE_H_
#define KYMO_TOOLS_DELIVER_VIEW_PAGE_H_

#include <string>

namespace kymo::tools {

// The name of the page that --view shows, and of its exporter.
inline constexpr char kPageFile[] = "report.html";
inline constexpr char kPageExporter[] = "html";

// file:// and the absolute path, with %XX where an address needs it.
std::string FileAddress(const std::string& path);

// Returns what to tell the user.
std::string ViewPage(const std::string& path);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_DELIVER_VIEW_PAGE_H_
