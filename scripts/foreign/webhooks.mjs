// Checks billing's own webhooks with the Standard Webhooks libraries of other languages: one as it
// was sent, and others that must be rejected.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startBilling } from '@tollgate/billing/testing'
// Not exported: applications never need to sign an old delivery.
import { signDelivery } from '../../packages/billing/dist/features/outgoing-webhooks/signature.js'

const KEY = Buffer.alloc(32, 'first')
const SECRET = `whsec_${KEY.toString('base64')}`
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 'second').toString('base64')}`
const HOUR = 3_600_000

const commands = [
  'python3 -m venv venv && venv/bin/pip -q install -r requirements.txt',
  'venv/bin/python check.py webhooks.json',
  'go run . webhooks.json',
]

/** Runs the libraries. Returns the columns `library, preset, case, accepted or refused, detail`. */
export async function checkWebhooks(folder) {
  const sent = await receive()
  const id = sent.headers['webhook-id']
  const before = signDelivery([KEY], { id, body: sent.body }, new Date(Date.now() - HOUR))
  const cwd = join(folder, 'webhooks')
  cpSync(fileURLToPath(new URL('webhooks', import.meta.url)), cwd, { recursive: true })
  const deliveries = [
    { name: 'good', secret: SECRET, ...sent },
    { name: 'tampered', secret: SECRET, ...sent, body: sent.body.replace('monthly', 'yearly') },
    { name: 'anotherSecret', secret: OTHER_SECRET, ...sent },
    { name: 'expired', secret: SECRET, ...sent, headers: before },
  ]
  writeFileSync(join(cwd, 'webhooks.json'), JSON.stringify(deliveries))
  let printed = ''
  for (const command of commands) {
    const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd })
    printed += stdout
  }
  const lines = printed.split('\n').map((line) => line.split('\t'))
  return lines.filter((parts) => parts.length === 5)
}

/**
 * Receives the webhooks that billing sends for a new subscription. Everything that was started is
 * stopped, even after a failure.
 */
export async function receive(start = startBilling) {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const arrived = once(server, 'request').then(async ([request, response]) => {
    let body = ''
    for await (const part of request.setEncoding('utf8')) body += part
    response.writeHead(204).end()
    return { headers: request.headers, body }
  })
  const url = `http://127.0.0.1:${server.address().port}/events`
  const endpoints = [{ url, secret: SECRET, types: ['subscription.created'] }]
  const deliveries = { endpoints, privateAddresses: ['127.0.0.1'] }
  let test
  try {
    test = await start({ defaultProvider: 'stripe', deliveries })
    await test.user.newSubscription('main', 'monthly').create('pm_card_visa')
    await test.settle()
    return await arrived
  } finally {
    await test?.close()
    server.closeAllConnections()
    server.close()
  }
}
