// Forms with a passkey: asks the browser to create or use one (WebAuthn), and sends its response with the form.

function fromBase64url(text) {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0))
}

function toBase64url(buffer) {
  const binary = String.fromCharCode(...new Uint8Array(buffer))
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** Replaces the base64url texts of the options by bytes. Not all browsers have a function for it. */
function parseOptions(options) {
  const parsed = { ...options, challenge: fromBase64url(options.challenge) }
  if (options.user) parsed.user = { ...options.user, id: fromBase64url(options.user.id) }
  for (const list of ['allowCredentials', 'excludeCredentials']) {
    if (options[list]) {
      parsed[list] = options[list].map((each) => ({ ...each, id: fromBase64url(each.id) }))
    }
  }
  return parsed
}

function toJson({ id, rawId, type, response }) {
  const bytes = (name) => (response[name] ? { [name]: toBase64url(response[name]) } : {})
  return JSON.stringify({
    id,
    rawId: toBase64url(rawId),
    type,
    response: {
      ...bytes('clientDataJSON'),
      ...bytes('attestationObject'),
      ...bytes('authenticatorData'),
      ...bytes('signature'),
      ...bytes('userHandle'),
      ...(response.getTransports ? { transports: response.getTransports() } : {}),
    },
  })
}

async function askForPasskey(form) {
  const problem = form.querySelector('[data-passkey-problem]')
  problem.textContent = ''
  if (!window.PublicKeyCredential) {
    problem.textContent = form.dataset.unsupported
    return
  }
  const publicKey = parseOptions(JSON.parse(form.dataset.options))
  try {
    const credential =
      form.dataset.passkey === 'create'
        ? await navigator.credentials.create({ publicKey })
        : await navigator.credentials.get({ publicKey })
    form.elements.namedItem('passkey').value = toJson(credential)
  } catch (error) {
    problem.textContent =
      error.name === 'InvalidStateError' ? form.dataset.known : form.dataset.cancelled
    return
  }
  form.submit()
}

for (const form of document.querySelectorAll('form[data-passkey]')) {
  form.querySelector('[data-without-script]').hidden = true
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (form.getAttribute('aria-busy') === 'true') return
    form.setAttribute('aria-busy', 'true')
    askForPasskey(form).finally(() => form.removeAttribute('aria-busy'))
  })
}
