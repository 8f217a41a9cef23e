"use strict";
// Forms for passkeys are hidden until this script finds that the browser has passkeys.
for (const form of document.querySelectorAll("form[data-passkey]")) {
  const { PublicKeyCredential: api } = window;
  if (!api?.parseCreationOptionsFromJSON || !api.parseRequestOptionsFromJSON || !api.prototype.toJSON) continue;
  form.hidden = false;
  const message = form.querySelector("[role=alert]");
  const button = form.querySelector("button");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    message.hidden = true;
    button.disabled = true;
    try {
      const options = JSON.parse(form.dataset.options);
      const credential = form.dataset.passkey === "create"
        ? await navigator.credentials.create({ publicKey: api.parseCreationOptionsFromJSON(options) })
        : await navigator.credentials.get({ publicKey: api.parseRequestOptionsFromJSON(options) });
      form.elements.credential.value = JSON.stringify(credential.toJSON());
      form.submit();
    } catch (fault) {
      message.textContent = fault.name === "InvalidStateError"
        ? "This device has a passkey for you already."
        : "The passkey was not used. Try again, or use your password.";
      message.hidden = false;
      button.disabled = false;
    }
  });
}
