// The pages' own script. It calls the JSON API in cookie mode, as the page of an application would. Attributes in the
// pages tell it what to do, and it never builds HTML from text.
const csrfToken = document.querySelector('meta[name="csrf-token"]')?.getAttribute('content') ?? null

/** Our texts in the language of the page. */
const texts = JSON.parse(document.querySelector('meta[name="script-texts"]').content)

/** A call to the JSON API as whoever is signed in; the cookie goes along by itself. */
export async function callApi(path, { method = 'GET', body } = {}) {
  const response = await fetch(path, {
    method,
    headers: {
      accept: 'application/json',
      ...(csrfToken === null ? {} : { 'x-csrf-token': csrfToken }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = response.status === 204 ? null : await response.json()
  return { ok: response.ok, status: response.status, answer }
}

/** Shows what was done, also to screen readers. */
export function announce(text) {
  const status = document.getElementById('status')
  if (status) status.textContent = text
}

/** Reloads the page, and replaces its elements that are marked with `data-live`. */
export async function refresh() {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } })
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
  for (const old of document.querySelectorAll('[data-live]')) {
    const now = fresh.getElementById(old.id)
    if (!now) continue
    showScripted(now)
    old.replaceWith(document.adoptNode(now))
  }
}

/** Shows the elements that need a script. */
function showScripted(root) {
  for (const each of root.querySelectorAll('[data-scripted]')) each.hidden = false
}
showScripted(document)

// --- dialogs ------------------------------------------------------------------------------------

/** Opens the dialog of a button with `data-open="id"`. Further attributes of the button set the request and the texts. */
function openDialog(dialog, opener) {
  const form = dialog.querySelector('form')
  const { api, values, title, text, action, done } = opener.dataset
  if (form) {
    form.reset()
    clearProblems(form)
    if (api) form.dataset.api = api
    if (done) form.dataset.done = done
    else if (api && dialog.id === 'confirm') delete form.dataset.done
    for (const [name, value] of Object.entries(JSON.parse(values ?? '{}'))) {
      form.elements.namedItem(name).value = value
    }
  }
  if (title) dialog.querySelector('h2').textContent = title
  if (text) dialog.querySelector('[data-text]').textContent = text
  if (action) dialog.querySelector('[type="submit"]').textContent = action
  dialog.showModal()
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('button')
  if (!button) return
  if (button.dataset.open) openDialog(document.getElementById(button.dataset.open), button)
  if (button.matches('[data-close]')) button.closest('dialog').close()
  if (button.dataset.copy) copy(button)
})

for (const dialog of document.querySelectorAll('dialog')) {
  dialog.addEventListener('close', () => {
    if (dialog.id === 'secret') document.getElementById('secret-value').value = ''
    // The button that opened the dialog may have been replaced; then the focus moves to the content.
    const { activeElement, body } = document
    if (activeElement === body || dialog.contains(activeElement)) {
      document.getElementById('main').focus()
    }
  })
}

/** Shows a secret that the API returned, which it does only once. */
function showSecret({ label, value, pairs }) {
  const dialog = document.getElementById('secret')
  dialog.querySelector('[data-label]').textContent = label
  const list = pairs.flatMap(([name, text]) => [element('dt', name), element('dd', text)])
  dialog.querySelector('[data-pairs]').replaceChildren(...list)
  document.getElementById('secret-value').value = value
  dialog.querySelector('[data-copy]').textContent = texts.copy
  dialog.showModal()
  document.getElementById('secret-value').scrollTop = 0
}

function element(name, text) {
  const made = document.createElement(name)
  made.textContent = text
  return made
}

async function copy(button) {
  const source = document.querySelector(button.dataset.copy)
  const text = source.value ?? source.textContent
  try {
    await navigator.clipboard.writeText(text)
    button.textContent = texts.copied
    announce(texts.copied)
  } catch {
    // Browsers allow writing to the clipboard only on https pages and localhost.
    if (source.select) source.select()
    else getSelection().selectAllChildren(source)
    button.textContent = texts.pressKeys
  }
}

// --- forms that call the API --------------------------------------------------------------------

document.addEventListener('submit', (event) => {
  const form = event.target
  if (!form.dataset.api) return
  event.preventDefault()
  send(form)
})

async function send(form) {
  if (form.getAttribute('aria-busy') === 'true') return
  form.setAttribute('aria-busy', 'true')
  clearProblems(form)
  const [method, path] = form.dataset.api.split(' ')
  try {
    const body = method === 'DELETE' ? undefined : valuesOf(form)
    const { ok, status, answer } = await callApi(path, { method, body })
    if (ok) await finish(form, answer)
    else if (status === 401)
      location.href = `/login?return_to=${encodeURIComponent(location.pathname)}`
    else showProblems(form, answer)
  } catch {
    showProblems(form, { message: texts.away })
  } finally {
    form.removeAttribute('aria-busy')
  }
}

async function finish(form, answer) {
  await refresh()
  form.closest('dialog').close()
  announce(form.dataset.done ?? '')
  const secret = secretOf(answer)
  if (secret) showSecret(secret)
}

function secretOf(answer) {
  if (answer?.secret) {
    const pairs = [
      [texts.client, answer.name],
      [texts.clientId, answer.id],
    ]
    return { label: texts.clientSecret, value: answer.secret, pairs }
  }
  if (answer?.accessToken) {
    const pairs = [[texts.name, answer.token.name]]
    return { label: texts.token, value: answer.accessToken, pairs }
  }
  return null
}

/** The values of a form for JSON. Checkboxes with the same name become a list; `true` and `false` become booleans. An empty number is left out. */
function valuesOf(form) {
  const values = {}
  for (const field of form.elements) {
    if (!field.name) continue
    if (field.matches('[data-many]')) {
      values[field.name] = [...form.querySelectorAll(`[name="${field.name}"]:checked`)].map(
        ({ value }) => value,
      )
    } else if (field.type === 'radio') {
      if (field.checked) values[field.name] = field.value === 'true'
    } else if (field.type === 'checkbox') {
      if (field.value === 'true') values[field.name] = field.checked
    } else if (field.dataset.number) {
      if (field.value !== '') values[field.name] = Number(field.value)
    } else if (field.dataset.lines) {
      values[field.name] = field.value
        .split(/[\n,]+/)
        .map((line) => line.trim())
        .filter(Boolean)
        .join(',')
    } else {
      values[field.name] = field.value
    }
  }
  return values
}

/** Shows each problem at its field, and the others below the fields. */
function showProblems(form, answer) {
  const rest = []
  let first = null
  for (const [name, texts] of Object.entries(answer?.errors ?? {})) {
    const field = form.querySelector(`[name="${CSS.escape(name)}"]`)
    const place = field && problemOf(field)
    if (!place) {
      rest.push(...texts)
      continue
    }
    place.textContent = texts.join(' ')
    field.setAttribute('aria-invalid', 'true')
    first ??= field
  }
  if (!answer?.errors) rest.push(answer?.message ?? answer?.error_description ?? texts.failed)
  const general = form.querySelector('[data-form-problem]')
  if (general) general.textContent = rest.join(' ')
  first?.focus()
}

function problemOf(field) {
  const described =
    field.getAttribute('aria-describedby') ??
    field.closest('fieldset')?.getAttribute('aria-describedby') ??
    ''
  const id = described.split(' ').find((each) => each.endsWith('-problem'))
  return id ? document.getElementById(id) : null
}

function clearProblems(form) {
  for (const place of form.querySelectorAll('.problem')) place.textContent = ''
  for (const field of form.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid')
}

// --- the demonstration application: parameters in the URL fragment --------------------------------

for (const list of document.querySelectorAll('[data-fragment]')) {
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    const entry = document.createElement('div')
    const code = element('dd', '')
    code.append(element('code', value))
    entry.append(element('dt', name), code)
    list.append(entry)
  }
}
