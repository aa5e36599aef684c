// Client for the public HTTP API of the OpenID Foundation's conformance suite, as far as a run
// needs it.
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 400

/** Connects to the suite. `certificate` is the authority of the suite's certificate as PEM. */
export function connectSuite(url, certificate) {
  async function call(method, path, query = {}, body) {
    const address = `${url}/api/${path}?${new URLSearchParams(query)}`
    const { status, text } = await send(method, address, body, certificate)
    if (status >= 300) throw new Error(`${method} /api/${path}: ${status} ${text.slice(0, 300)}`)
    return text === '' ? null : JSON.parse(text)
  }

  /**
   * Runs one module to its end. Most start by themselves; one with `beforeStart` waits until that
   * is done.
   */
  async function runModule(planId, entry, { seconds, beforeStart }) {
    const began = Date.now()
    const variant = JSON.stringify(entry.variant ?? {})
    const { id } = await call('POST', 'runner', { test: entry.testModule, plan: planId, variant })
    const ended = await waitForEnd(id, { until: began + seconds * 1000, beforeStart })
    const log = await call('GET', `log/${id}`)
    return { id, log, ...ended, seconds: (Date.now() - began) / 1000 }
  }

  async function waitForEnd(id, { until, beforeStart }) {
    let started = false
    for (;;) {
      const info = await call('GET', `info/${id}`).catch(() => null)
      if (beforeStart && info?.status === 'CONFIGURED' && !started) {
        started = true
        await beforeStart()
        await call('POST', `runner/${id}`)
      }
      if (info?.status === 'FINISHED') return { result: info.result }
      if (info?.status === 'INTERRUPTED') return { result: 'FAILED', note: 'it was interrupted' }
      if (Date.now() > until) {
        const { browser } = (await call('GET', `runner/${id}`).catch(() => null)) ?? {}
        await call('DELETE', `runner/${id}`).catch(() => null)
        const [waitsFor = ''] = browser?.urls ?? []
        return { result: 'FAILED', note: `still ${info?.status}; ${waitsFor}`.slice(0, 200) }
      }
      await sleep(POLL_MS)
    }
  }

  return {
    version: async () => (await call('GET', 'server')).version,
    createPlan: (planName, variant, configuration) =>
      call(
        'POST',
        'plan',
        { planName, variant: JSON.stringify(variant) },
        JSON.stringify(configuration),
      ),
    runModule,
  }
}

function send(method, url, body, certificate) {
  return new Promise((resolve, reject) => {
    const headers = { accept: 'application/json', 'content-type': 'application/json' }
    const sent = request(url, { method, headers, ca: certificate }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode, text }))
      response.on('error', reject)
    })
    sent.setTimeout(60_000, () => sent.destroy(new Error(`${method} ${url} took too long`)))
    sent.on('error', reject)
    sent.end(body)
  })
}
