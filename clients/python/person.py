"""A person at a browser, without the browser: signs in, changes a password that is good once, and consents."""

from __future__ import annotations

from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2

from check import check, check_equal
from page import Form, Page

MOST_STEPS = 16
# The fields of the page to sign in. There a script may offer passkeys; no other page has one.
SIGN_IN = ("name", "password")


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


class Person:
    """Knows a name and a password, and goes nowhere but to the origin of the authorization URL."""

    def __init__(self, name: str, password: str) -> None:
        self.name = name
        self.password = password
        self.titles: list[str] = []
        """The titles of the pages that were seen."""
        self.consent = ""
        """What the page said on which the person consented."""

    async def visit(self, authorization_url: str) -> str:
        """Allows what is asked for. Returns the URL that the browser is sent to at last: the program's, with the answer."""
        origin = origin_of(authorization_url)
        redirect_uri = parse_qs(urlsplit(authorization_url).query)["redirect_uri"][0]
        # No proxy may see the password. The client keeps the cookies, as a browser does.
        async with httpx2.AsyncClient(follow_redirects=False, trust_env=False, timeout=30.0) as http:
            request = http.build_request("GET", authorization_url)
            after_form = False
            for _ in range(MOST_STEPS):
                response = await http.send(request)
                if response.is_redirect:
                    target = urljoin(str(response.url), response.headers["location"])
                else:
                    page = Page(response)
                    self.titles.append(page.title)
                    check_equal(response.status_code, 200, f"the status of the page that says `{page.text}`")
                    scripted = [form for form in page.forms if form.has(*SIGN_IN)]
                    check(not page.scripts or scripted, f"a page without scripts, `{page.title}`", page.scripts)
                    if not page.refresh:
                        request, after_form = self._answered(page, origin, http, redirect_uri), True
                        continue
                    check(page.refresh in page.links, "a link to where the page goes on", page.links)
                    target, after_form = urljoin(page.url, page.refresh), False
                if origin_of(target) != origin:
                    # A browser holds the redirects after a form to the page's `form-action`.
                    check(not after_form, "a page between a form and another site", target)
                    check_equal(target.partition("?")[0], redirect_uri, "where the answer goes")
                    return target
                request = http.build_request("GET", target)
        check(False, f"an answer after {MOST_STEPS} steps", self.titles)
        return ""

    def _answered(self, page: Page, origin: str, http: httpx2.AsyncClient, redirect_uri: str) -> httpx2.Request:
        check_equal(len(page.forms), 1, f"the number of forms on the page that says `{page.text}`")
        form = page.forms[0]
        action = urljoin(page.url, form.action)
        check_equal((form.method, origin_of(action)), ("post", origin), "how and where a form is sent")
        sent = self._filled(form, page, redirect_uri)
        headers = {"origin": origin, "referer": page.url, "sec-fetch-site": "same-origin"}
        return http.build_request("POST", action, data=sent, headers=headers)

    def _filled(self, form: Form, page: Page, redirect_uri: str) -> dict[str, str]:
        if form.has(*SIGN_IN):
            return form.filled({"name": self.name, "password": self.password})
        if form.has("new", "repeated"):
            self.password = f"{self.password}-changed"
            return form.filled({"new": self.password, "repeated": self.password})
        check(form.has("decision"), "a form to sign in, to change the password or to consent", page.text)
        check(redirect_uri in page.text, f"a page that says that the answer goes to {redirect_uri}", page.text)
        self.consent = page.text
        return form.filled({}, pressed="allow")
