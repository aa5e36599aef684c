import { readdirSync, readFileSync } from 'node:fs'
import { BlockList } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { variables } from '../../packages/server/src/config/variables.ts'
import { codeBlocks, ROOT, readPage } from '../../test-support/markdown.ts'
import { fillIn, recordQueries } from '../check-deploy.mjs'

const FILES = readdirSync(join(ROOT, 'deploy'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length))
  // Dashboards and alerts name metrics, not variables.
  .filter((path) => !/^deploy\/(?:grafana|prometheus)\//.test(path))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** Names of environment variables of the service in a file. */
const variablesIn = (text: string) =>
  [...text.matchAll(/\b(?:TOLLGATE|STRIPE|BRAINTREE)_[A-Z_]*[A-Z]\b/g)].map(([name]) => name)

describe('the files in deploy/', () => {
  it.each(FILES)('name only environment variables that the service reads: %s', (path) => {
    expect(variablesIn(read(path)).filter((name) => !variables.has(name))).toEqual([])
  })

  it('give the process more time to end than it needs to finish its requests', () => {
    const seconds = (path: string, pattern: RegExp) => Number(pattern.exec(read(path))?.[1])
    const graces = [
      seconds('deploy/compose.yaml', /stop_grace_period: (\d+)s/),
      seconds('deploy/tollgate.service', /TimeoutStopSec=(\d+)/),
      seconds('deploy/kubernetes/deployment.yaml', /terminationGracePeriodSeconds: (\d+)/),
    ]
    // The default of TOLLGATE_DRAIN_SECONDS in production, and ten seconds for open requests.
    for (const grace of graces) expect(grace).toBeGreaterThan(20)
  })

  it('trust only the address of Caddy, which Compose gives to no other container', () => {
    const compose = read('deploy/compose.yaml')
    const value = (pattern: RegExp) => pattern.exec(compose)?.[1] ?? ''
    const caddy = value(/ipv4_address: (\S+)/)
    expect(value(/TOLLGATE_TRUSTED_PROXIES: (\S+)/)).toBe(caddy)
    const networkOf = (name: string) => {
      const [address = '', bits] = value(new RegExp(`\\b${name}: (\\S+)`)).split('/')
      const list = new BlockList()
      list.addSubnet(address, Number(bits))
      return list
    }
    expect(networkOf('subnet').check(caddy)).toBe(true)
    expect(networkOf('ip_range').check(caddy)).toBe(false)
  })

  it('keep the secrets and data of a clone out of the image', () => {
    const [, excluded = ''] = read('deploy/Dockerfile.dockerignore').split('!scripts\n')
    for (const pattern of ['**/.env', '**/.env.*', '**/.tollgate', '**/*.db', '**/*.db-*']) {
      expect(excluded.split('\n')).toContain(pattern)
    }
  })

  it('configure Caddy as the guide about production does, which proxies.test.ts runs', () => {
    const guide = codeBlocks(readPage('docs/guides/production.md'))
    const block = guide.find(({ info }) => info === 'caddyfile')?.code ?? ''
    const own = block
      .replace('api.example.com', '{$TOLLGATE_URL}')
      .replace('127.0.0.1:3000', 'tollgate:3000')
    expect(read('deploy/Caddyfile').replace(/^#.*\n/, '')).toBe(`${own}\n`)
  })
})

describe('check:deploy', () => {
  it('fills in the empty values of the example for docker compose, and keeps the others', () => {
    expect(fillIn('# A=\nA=\nB=given\n')).toBe('# A=\nA=filled-in\nB=given\n')
  })

  it('turns each query of a dashboard into a rule, because promtool checks only rules', () => {
    const targets = [{ expr: 'up{job="$job"}' }, { expr: '1' }]
    expect(JSON.parse(recordQueries({ panels: [{ targets }] })).groups[0].rules).toEqual([
      { record: 'query_0', expr: 'up{job="tollgate"}' },
      { record: 'query_1', expr: '1' },
    ])
  })
})
