import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { findFreePort } from './free-port.ts'

/** A Redis of its own for a test. */
export interface RedisServer {
  readonly url: string
  /** Ends the server, as a crash does. */
  kill(): Promise<void>
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>
}

/** Finds `redis-server` or `valkey-server` in `PATH`. `null` if neither is installed. */
export function findRedis({ PATH = '' }: NodeJS.ProcessEnv = process.env): string | null {
  const folders = [...PATH.split(delimiter), '/usr/bin']
  const candidates = ['redis-server', 'valkey-server'].flatMap((name) =>
    folders.map((folder) => join(folder, name)),
  )
  return candidates.find(isProgram) ?? null
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Starts a Redis that stores nothing on disk. */
export async function startRedis(): Promise<RedisServer> {
  const program = findRedis()
  if (!program) throw new Error('redis-server is not installed')
  const port = await findFreePort()
  let child: ChildProcess | null = null

  async function start(): Promise<void> {
    const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    child = spawn(program as string, options, { stdio: 'ignore' })
    while (!(await answers(port))) {
      if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
    restart: start,
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
