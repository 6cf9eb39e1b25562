"""What TensorBoard draws of Kymo's files, in a real browser.

XProf's charts and torch-tb-profiler's page come from a host of Google's, which
tests do not reach; xprof_test and tensorboard_test check their data instead.
"""

import time
import unittest

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

from tests.e2e.consumers.boards import BoardTestCase
from tests.e2e.consumers.browser import Browser
from tests.e2e.consumers.browser import coloured

# Errors on the console that no file of ours can cause: what is not reached,
# and XProf's own, which every opening of its page brings.
NOT_OURS = ("https://www.gstatic.", "https://fonts.googleapis.",
            "navigateWithUrl")

# Looks into the components that a page is made of.
FIND = """
  const find = (root, matches) => {
    for (const element of root.querySelectorAll('*')) {
      if (matches(element)) return element;
      const inner = element.shadowRoot && find(element.shadowRoot, matches);
      if (inner) return inner;
    }
    return null;
  };
"""
FIND_GRAPH = FIND + "return find(document, (e) => e.id === 'svg');"
NODES = """
  return [...arguments[0].querySelectorAll('g.node')].map((node) => [
      node.getAttribute('data-name'), node.getBoundingClientRect().width]);
"""
FIND_NODE = """
  return [...arguments[0].querySelectorAll('g.node')].find(
      (node) => node.getAttribute('data-name') === arguments[1]);
"""

# Presses of `w`, which magnifies: from the program to a few of its steps.
MAGNIFY = 9


class PageTest(BoardTestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = cls.enterClassContext(Browser())

    def setUp(self):
        self.browser.open("about:blank")

    def assert_no_error_of_ours(self):
        self.assertEqual([error for error in self.browser.errors()
                          if not any(word in error for word in NOT_OURS)], [])

    def test_trace_viewer(self):
        tool = "trace_viewer@"
        (run,) = self.board.json("/data/plugin/profile/runs")
        (host,) = self.board.json("/data/plugin/profile/hosts", run=run,
                                  tag=tool)
        self.browser.open(f"{self.board.url}?run={run}&tag={tool}"
                          f"&hosts={host['hostname']}#profile")
        page = self.browser.page
        page.switch_to.frame(self.browser.wait(
            "XProf", lambda _: page.find_elements(By.TAG_NAME, "iframe"))[0])
        viewer = self.browser.wait(
            "the trace viewer",
            lambda _: page.find_elements(By.CSS_SELECTOR,
                                         "iframe[src*=trace_viewer]"))[0]
        self.browser.wait_until_drawn("the trace", lambda _: viewer, share=0.05,
                                      is_counted=coloured)
        self.assert_rows(viewer)
        self.magnify(viewer)
        self.browser.wait_until_drawn("some steps", lambda _: viewer,
                                      share=0.05, is_counted=coloured)
        self.browser.keep("tensorboard")
        self.assert_no_error_of_ours()

    def assert_rows(self, viewer):
        """A row for each thread and each counter."""
        page = self.browser.page
        page.switch_to.frame(viewer)
        text = page.execute_script("return document.body.textContent")
        page.switch_to.parent_frame()
        for thread in self.recorded.summary["threads"]:
            self.assertIn(thread["name"], text)
        self.assertIn("Memory: heap", text)
        self.assertIn("loss", text)

    def magnify(self, viewer):
        """Around the middle; the click, below all rows, brings the focus."""
        below = viewer.size["height"] // 2 - 80
        ActionChains(self.browser.page).move_to_element_with_offset(
            viewer, 0, below).click().perform()
        for _ in range(MAGNIFY):
            ActionChains(self.browser.page).send_keys("w").perform()
            time.sleep(0.1)
        time.sleep(1)  # The viewer fetches what it did not need before.

    def test_graph(self):
        self.browser.open(f"{self.board.url}#graphs&run=.")
        graph = self.browser.wait(
            "the graph", lambda page: page.execute_script(FIND_GRAPH))
        nodes = self.wait_for_node(graph, "ProfilerStep")
        self.assertIn("evaluate", nodes)
        self.browser.wait_until_drawn("the graph", lambda _: graph, share=0.005)
        node = self.browser.page.execute_script(FIND_NODE, graph,
                                                "ProfilerStep")
        self.wait_until_at_rest(node)
        ActionChains(self.browser.page).double_click(node).perform()
        nodes = self.wait_for_node(graph, "ProfilerStep/backward")
        self.assertLessEqual({"ProfilerStep/forward", "ProfilerStep/optimizer"},
                             nodes)
        self.wait_until_at_rest(node)
        self.browser.keep("graph")
        self.assert_no_error_of_ours()

    def wait_until_at_rest(self, element):
        """The graph moves into the middle at first."""
        before = []

        def is_at_rest(_):
            before.append(element.rect)
            return len(before) > 5 and before[-1] == before[-5]

        self.browser.wait("a graph at rest", is_at_rest)

    def wait_for_node(self, graph, name):
        """Names of the nodes that one sees, once `name` is among them."""

        def nodes(page):
            seen = {name for name, width in page.execute_script(NODES, graph)
                    if width > 0}
            return name in seen and seen

        return self.browser.wait(f"the node {name}", nodes)

    def test_time_series(self):
        self.browser.open(f"{self.board.url}#timeseries")
        self.browser.wait(
            "a card of steps/time_ms",
            lambda page: "steps" in page.find_element(By.TAG_NAME, "body").text)
        self.browser.wait(
            "a chart", lambda page: page.find_elements(By.CSS_SELECTOR,
                                                       "scalar-card line-chart"))
        self.browser.keep("time_series")
        self.assert_no_error_of_ours()


if __name__ == "__main__":
    unittest.main()
