import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lastLines, record, startSandbox } from './processes.mjs'

/**
 * Installs one version of a client, runs its program, and parses the output. `flags` replaces the
 * client's own.
 */
export async function tryClient(client, version, flags = client.flags?.()) {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-client-'))
  try {
    await client.install(folder, version)
    const sandbox = await startSandbox(flags)
    const { env = {}, tearDown } = (await client.setUp?.(folder)) ?? {}
    try {
      const [command, ...args] = client.run(folder, version)
      const { code, text } = await record(command, args, {
        cwd: folder,
        env: {
          ...env,
          STRIPE_URL: sandbox.url,
          STRIPE_KEY: sandbox.apiKey,
          GATEWAY_PORT: sandbox.braintreePort,
        },
      })
      return { ...read(text), failure: code === 0 ? null : lastLines(text, 25) }
    } finally {
      await tearDown?.()
      await sandbox.stop()
    }
  } catch (error) {
    return { facts: {}, done: [], failure: error.message }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function read(text) {
  const done = []
  const facts = {}
  for (const line of text.split('\n')) {
    const step = /^ok (.+)$/.exec(line)?.[1]
    if (step !== undefined) done.push(step)
    const [, name, value] = /^(version|speaks): (.+)$/.exec(line) ?? []
    if (name !== undefined) facts[name] = value
  }
  return { done, facts }
}
