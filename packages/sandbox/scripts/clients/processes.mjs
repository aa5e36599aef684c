import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Returns the first of the commands that is not installed. `null` if all are. */
export function findMissing(commands) {
  return commands.find((command) => spawnSync(command, ['--help']).error !== undefined) ?? null
}

/** Runs a command to its end. If it fails, the error contains its last output. */
export async function run(command, args, { cwd, env = {} }) {
  const { code, text } = await record(command, args, { cwd, env })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${lastLines(text, 15)}`)
  return text
}

/** Runs a command to its end and returns its output. */
export async function record(command, args, { cwd, env = {} }) {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
  }
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return { code, text }
}

export function lastLines(text, count) {
  return text.trimEnd().split('\n').slice(-count).join('\n')
}

/** Some clients validate a key before they use it: at least 24 letters and digits. */
const KEY = `sk_test_${'tollgate'.repeat(3)}`

/** Starts the sandbox in its own process, on free ports. */
export async function startSandbox(flags = []) {
  const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
  const ports = ['--stripe-port', '0', '--braintree-port', '0', '--control-port', '0']
  const child = spawn(process.execPath, [cli, '--json', '--stripe-key', KEY, ...ports, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const line = await new Promise((resolve, reject) => {
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')))
    })
    child.once('exit', (code) => reject(new Error(`The sandbox ended with ${code}`)))
  })
  const { stripe, braintree } = JSON.parse(line)
  return {
    url: `${stripe.protocol}://${stripe.host}:${stripe.port}`,
    apiKey: stripe.apiKey,
    braintreePort: new URL(braintree.url).port,
    async stop() {
      const ended = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGTERM')
      await ended
    },
  }
}
