"""A person who connects an account at an upstream, or disconnects it, on the pages of the gateway.

Usage: python connect_account.py PAGE_URL NAME PASSWORD BUTTON [AS [CHANGED]]

Signs in at the gateway as NAME, opens the page, and presses BUTTON (`Connect`, `Disconnect`). At the upstream's authorization
server the person is AS. With CHANGED the form has another `csrf`, or the way back is altered before it is gone: `state` is cut, `iss` is
another server's, or the answer is brought `alone`, by a browser in which nobody is signed in. Prints the titles and texts of the pages.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import httpx2

from check import check, main
from page import Form, Page
from person import origin_of

MOST_STEPS = 24


class Browser:
    """Keeps cookies, shows a referrer to its own origin alone, and remembers what it saw."""

    def __init__(self) -> None:
        self.http = httpx2.AsyncClient(follow_redirects=False, trust_env=False, timeout=30.0)
        self.pages: list[dict[str, Any]] = []
        self.secrets: list[str] = []
        """What addresses carried that nobody else may have: codes, states and keys of pages."""

    async def get(self, url: str) -> httpx2.Response:
        query = parse_qsl(urlsplit(url).query)
        self.secrets.extend(value for name, value in query if name in ("code", "state", "key"))
        return await self.http.get(url)

    async def post(self, page: Page, form: Form, sent: dict[str, str]) -> httpx2.Response:
        origin = origin_of(page.url)
        action = urljoin(page.url, form.action)
        check(origin_of(action) == origin, "a form of the page's own server", action)
        headers = {"origin": origin, "referer": page.url, "sec-fetch-site": "same-origin"}
        return await self.http.post(action, data=sent, headers=headers)

    def read(self, response: httpx2.Response) -> Page:
        page = Page(response)
        self.pages.append({"title": page.title.removesuffix(" · Aldgate"), "text": page.text, "status": response.status_code})
        return page


def altered(url: str, how: str) -> str:
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    check("state" in query and "code" in query, "an answer with a code", query)
    if how == "state":
        query["state"] = query["state"][:-2]
    elif how == "iss":
        query["iss"] = "https://evil.example"
    return parts._replace(query=urlencode(query)).geturl()


async def run(arguments: list[str]) -> dict[str, Any]:
    check(4 <= len(arguments) <= 6, "PAGE_URL NAME PASSWORD BUTTON [AS [CHANGED]]", len(arguments))
    url, name, password, button, account, how = [*arguments, "", ""][:6]
    origin = origin_of(url)
    browser = Browser()
    response = await browser.get(url)
    pressed = False
    for _ in range(MOST_STEPS):
        if response.is_redirect:
            target = urljoin(str(response.url), response.headers["location"])
        elif origin_of(str(response.url)) != origin:
            # The other server asks who signs in.
            check(response.status_code == 200 and account, "a page that asks who signs in", response.text)
            target = f"{response.url}?{urlencode({'as': account})}"
        else:
            page = browser.read(response)
            if page.refresh:
                target = urljoin(page.url, page.refresh)
            else:
                forms = [form for form in page.forms if form.has("name", "password")]
                new = [form for form in page.forms if form.has("new", "repeated")]
                if forms:
                    response = await browser.post(page, forms[0], forms[0].filled({"name": name, "password": password}))
                    continue
                if new and not pressed:
                    password = f"{password}-changed"
                    response = await browser.post(page, new[0], new[0].filled({"new": password, "repeated": password}))
                    continue
                if pressed or button not in page.text:
                    break
                wanted = "disconnect" if button == "Disconnect" else "/connections/"
                found = [form for form in page.forms if wanted in form.action and form.has("csrf")]
                check(found, f"a form to {button}", page.text)
                pressed = True
                changed = {"csrf": "A" * 43} if how == "csrf" else {}
                response = await browser.post(page, found[0], found[0].filled(changed))
                continue
        if how and "/callback?" in target and origin_of(target) == origin:
            target = altered(target, how)
            if how == "alone":
                browser.http.cookies.clear()
        response = await browser.get(target)
    secrets = browser.secrets + [cookie.value for cookie in browser.http.cookies.jar]
    return {"pages": browser.pages, "password": password, "secrets": secrets}


if __name__ == "__main__":
    main(run)
