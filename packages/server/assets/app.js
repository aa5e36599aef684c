// The pages' own script: it calls the JSON API through cookie mode, as an application's would.
const csrfToken = document.querySelector('meta[name="csrf-token"]')?.getAttribute('content') ?? null

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
