import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { describeService } from '../src/cli/commands/serve.ts'
import { type Service, type ServiceOptions, startService } from '../src/service.ts'
import { testConfig } from './support.ts'

// Built by `npm test` before the tests run.
const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const options: ServiceOptions = { ticking: false, logTo: { write: () => undefined } }
const undo: Array<() => unknown> = []

afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each()
})

async function demoConfig() {
  const { config, remove } = await testConfig()
  undo.push(remove)
  return config
}

async function start(config: Awaited<ReturnType<typeof demoConfig>>): Promise<Service> {
  const service = await startService(config, options)
  undo.push(() => service.close(0))
  return service
}

it('a second service refuses to start on the same data folder, and names the address of the first', async () => {
  const config = await demoConfig()
  const first = await start(config)
  const second = startService(config, options)
  await expect(second).rejects.toThrow(`in use by the service at ${first.url}`)
  await expect(second).rejects.toThrow(`TOLLGATE_DATA_DIR=${config.dataDir}-2`)

  await first.close(0)
  const third = await start(config)
  expect(third.demo?.clients).toEqual(first.demo?.clients)
})

it('the service takes over the data folder of a service that was killed', async () => {
  const config = await demoConfig()
  const dead = spawn(process.execPath, ['-e', ''])
  await new Promise((resolve) => dead.once('exit', resolve))
  const left = { pid: dead.pid, port: 1, url: 'http://localhost:1' }
  for (const text of [JSON.stringify(left), '{"pid":', 'null']) {
    writeFileSync(join(config.dataDir, 'running.json'), text)
    const service = await start(config)
    await service.close(0)
    expect(existsSync(join(config.dataDir, 'running.json'))).toBe(false)
  }
})

it('the service keeps the clients of the demo after a start on another port, and redirects people to that port', async () => {
  const config = await demoConfig()
  const first = await start(config)
  const clients = (await first.oauth.clients.list()).map(({ id }) => id).sort()
  await first.close(0)

  const second = await start(config)
  expect(second.port).not.toBe(first.port)
  const now = await second.oauth.clients.list()
  expect(now.map(({ id }) => id).sort()).toEqual(clients)
  const web = now.find(({ id }) => id === second.demo?.clients.web?.id)
  expect(web?.redirectUris).toEqual([`${second.url}/callback`])
})

it('the sandbox has delivered every webhook after the first start', async () => {
  const service = await start(await demoConfig())
  await service.sandbox?.outbox.flush()
  const waiting = service.sandbox?.outbox.deliveries().filter(({ state }) => state === 'pending')
  expect(waiting).toEqual([])
})

it('tollgate serve prints commands that get a token and use it, and they work when pasted', async () => {
  const service = await start(await demoConfig())
  const [, commands = ''] = describeService(service).split('Get a token:\n')
  const script = commands.replace('Use it:', '').replace(/Press Ctrl-C.*/, '')
  const shell = spawn('sh', ['-c', script])
  let output = ''
  shell.stdout.on('data', (chunk) => {
    output += chunk
  })
  await new Promise((resolve) => shell.once('close', resolve))
  const [token, ...orders] = output.split('\n')
  expect(token?.length).toBeGreaterThan(40)
  expect(JSON.parse(orders.join('\n'))).toBeInstanceOf(Array)
})

it('tollgate serve prints, when it stops, that it is stopping and where its data is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-ctrl-c-'))
  undo.push(() => rmSync(folder, { recursive: true, force: true }))
  const child = spawn(process.execPath, [program, 'serve', '--port', '0'], {
    env: { PATH: process.env.PATH ?? '', TOLLGATE_DATA_DIR: folder },
  })
  undo.push(() => child.kill('SIGKILL'))
  let output = ''
  const running = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      if (String(chunk).includes('Ctrl-C')) resolve()
    })
  })
  child.stderr.on('data', (chunk) => {
    output += chunk
  })
  await running
  child.kill('SIGINT')
  const code = await new Promise((resolve) => child.once('close', resolve))
  expect(code).toBe(0)
  expect(output).toContain('Stopping')
  expect(output).toContain(`kept in ${folder}`)
})
