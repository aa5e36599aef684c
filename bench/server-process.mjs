import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { serverCommand } from './cores.mjs'

const host = fileURLToPath(new URL('./host.mjs', import.meta.url))

/**
 * Starts a subject in a separate process on the server's core.
 * @param {{ subject: string, folder?: string, row: object, databaseUrl: string | null }} task
 */
export async function startServer(task) {
  const [command, args] = serverCommand([host, JSON.stringify(task)])
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  let complaints = ''
  child.stderr.on('data', (chunk) => {
    complaints = `${complaints}${chunk}`.slice(-2000)
  })
  const seed = await new Promise((resolve, reject) => {
    child.on('message', (message) => {
      if (message.ready) resolve(message.ready)
      if (message.failed) reject(new Error(message.failed))
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`The server ended with ${code}: ${complaints}`)))
  }).catch((error) => {
    child.kill()
    throw error
  })

  return {
    seed,
    /** Returns the processor time used so far, in microseconds. */
    usage: () =>
      new Promise((resolve) => {
        const listen = (message) => {
          if (!message.usage) return
          child.off('message', listen)
          resolve(message.usage.user + message.usage.system)
        }
        child.on('message', listen)
        child.send('usage')
      }),
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve()
        child.once('exit', resolve)
        child.kill()
      }),
    complaints: () => complaints,
  }
}
