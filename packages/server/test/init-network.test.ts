import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findFreePort } from '../../../test-support/free-port.ts'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const starter = fileURLToPath(new URL('../../../scripts/starters/express', import.meta.url))

/** Starts `tollgate init` in a copy of the starter, with this npm registry and an empty cache. */
function startInit(registry: string) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-init-'))
  const cache = mkdtempSync(join(tmpdir(), 'tollgate-npm-'))
  cpSync(starter, folder, { recursive: true })
  const child = spawn(process.execPath, [program, 'init', '--yes'], {
    cwd: folder,
    env: {
      ...process.env,
      npm_config_registry: registry,
      npm_config_cache: cache,
      npm_config_fetch_retries: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group, as a terminal makes one, to which Ctrl-C is sent.
    detached: true,
  })
  const text: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => text.push(String(chunk)))
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  onTestFinished(async () => {
    try {
      // npm, too, which would keep the pipes open.
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    } catch {
      // The whole group has ended.
    }
    await ended
    for (const each of [folder, cache]) rmSync(each, { recursive: true, force: true })
  })
  return { folder, pid: child.pid ?? 0, ended, output: () => text.join('') }
}

function expectUnchanged(folder: string): void {
  const files = readdirSync(folder).filter((name) => name !== 'node_modules')
  expect(files.sort()).toEqual(readdirSync(starter).sort())
  for (const path of ['package.json', 'src/index.ts']) {
    expect(readFileSync(join(folder, path), 'utf8')).toBe(readFileSync(join(starter, path), 'utf8'))
  }
}

describe('tollgate init, if the installation of packages fails,', () => {
  it('changes nothing without a network, and prints the command that failed', async () => {
    const { folder, ended, output } = startInit(`http://127.0.0.1:${await findFreePort()}`)
    expect(await ended).toBe(2)
    expect(output()).toMatch(/npm install .*@tollgate\/oauth@\^.*\n\nfailed \(exit code 1\)/)
    expectUnchanged(folder)
  })

  it('undoes everything if it is interrupted', async () => {
    let asked = () => {}
    const waiting = new Promise<void>((resolve) => {
      asked = resolve
    })
    // A registry that never answers.
    const registry = createServer(() => asked()).listen(0, '127.0.0.1')
    onTestFinished(() => {
      registry.closeAllConnections()
      registry.close()
    })
    await new Promise((resolve) => registry.once('listening', resolve))
    const { port } = registry.address() as AddressInfo
    const { folder, pid, ended, output } = startInit(`http://127.0.0.1:${port}`)
    await waiting
    process.kill(-pid, 'SIGINT')
    expect(await ended).toBe(2)
    expect(output()).toContain('so nothing was changed')
    expectUnchanged(folder)
  })
})
