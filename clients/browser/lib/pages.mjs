// What a person does on the pages for people.

export const NEW_PASSWORD = 'wooden anchor over Leiden';

/** Signs in with a password, on the page to sign in. */
export async function signIn(device, name, password = NEW_PASSWORD) {
  await device.look('Sign in');
  await device.fill({ Name: name, Password: password });
  await device.press('Sign in');
}

/** Changes a password that was good once. */
export async function changePassword(device) {
  await device.look('Change the password');
  await device.fill({ 'New password': NEW_PASSWORD, 'New password once more': NEW_PASSWORD });
  await device.press('Change the password');
}

/** Signs in with the device's passkey. */
export async function signInWithPasskey(device) {
  await device.look('Sign in');
  await device.press('Sign in with a passkey');
}

/** Signs in with the new password, adds a passkey of this device, and signs out. */
export async function getPasskey(device, origin, name) {
  await device.page.goto(`${origin}/account`);
  await signIn(device, name);
  await device.look('Your account');
  const add = device.page.getByRole('button', { name: 'Add a passkey' });
  const form = device.page.locator('form').filter({ has: add });
  await form.getByLabel('Name of the new passkey').fill('Laptop');
  await form.getByLabel('Current password').fill(NEW_PASSWORD);
  await add.click();
  await device.page.getByRole('button', { name: 'Remove the passkey Laptop' }).waitFor();
  await device.look('Your account');
  await device.press('Sign out of this browser');
  await device.look('You are signed out');
}
