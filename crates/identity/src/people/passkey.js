"use strict";
// Buttons for passkeys, and forms that have no other button, are hidden until this script finds that the browser has passkeys.
for (const button of document.querySelectorAll("button[data-passkey]")) {
  const { PublicKeyCredential: api } = window;
  if (!api?.parseCreationOptionsFromJSON || !api.parseRequestOptionsFromJSON || !api.prototype.toJSON) continue;
  const form = button.form;
  form.hidden = button.hidden = false;
  const message = form.querySelector("[role=alert]");
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    if (!button.formNoValidate && !form.reportValidity()) return;
    message.hidden = true;
    button.disabled = true;
    try {
      const options = JSON.parse(button.dataset.options);
      const credential = button.dataset.passkey === "create"
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
