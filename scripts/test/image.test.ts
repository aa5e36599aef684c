import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../test-support/markdown.ts'
import {
  createIgnore,
  findMirror,
  parseAssignments,
  parseCommand,
  parseDockerfile,
  substitute,
} from '../image/dockerfile.mjs'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

describe('check:image', () => {
  it('reads instructions with flags, comments and lines that continue', () => {
    const text = '# syntax\nFROM --platform=$X a AS b\n\nRUN one \\\n# why\n  && two\n'
    expect(parseDockerfile(text)).toEqual([
      { line: 2, name: 'FROM', flags: { platform: '$X' }, value: 'a AS b' },
      { line: 4, name: 'RUN', flags: {}, value: 'one   && two' },
    ])
  })

  it('knows each instruction of deploy/Dockerfile, and rejects all others', () => {
    const names = parseDockerfile(read('deploy/Dockerfile')).map(({ name }) => name)
    expect(names.filter((name) => name === 'FROM')).toHaveLength(3)
    expect(names).toEqual(expect.arrayContaining(['RUN', 'COPY', 'USER', 'ENTRYPOINT']))
    expect(() => parseDockerfile('FROM a\nADD b c\n')).toThrow('Line 2: check:image cannot execute')
    expect(() => parseDockerfile('FROM a\nshell?\n')).toThrow('Line 2')
  })

  it('replaces variables in ENV and ARG, and leaves no name of one that is not set', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of a Dockerfile
    expect(substitute('$A-${B}-$C', { A: '1', B: '2' })).toBe('1-2-')
    const variables = { PATH: '/bin' }
    expect(parseAssignments('NODE_ENV=production PATH=/app:$PATH EMPTY', variables)).toEqual([
      ['NODE_ENV', 'production'],
      ['PATH', '/app:/bin'],
      ['EMPTY', ''],
    ])
  })

  it('reads commands in the JSON form only, which needs no shell', () => {
    expect(parseCommand('["tollgate"]', 'CMD')).toEqual(['tollgate'])
    expect(() => parseCommand('tollgate serve', 'CMD')).toThrow('CMD is not a JSON list')
  })

  it.each([
    ['package.json', false],
    ['packages/server/src/main.ts', false],
    ['packages/server/dist/main.js', true],
    ['packages/server/node_modules/x/index.js', true],
    ['examples/hono/package.json', false],
    ['examples/hono/index.ts', true],
    ['scripts/tsc.mjs', false],
    ['scripts/.env.local', true],
    ['packages/server/.tollgate/secret', true],
    ['packages/a.db-wal', true],
    ['docs/README.md', true],
    ['.env', true],
  ])('decides as Docker whether %s is left out of the build context: %s', (path, isIgnored) => {
    const examine = createIgnore(read('deploy/Dockerfile.dockerignore'))
    expect(examine(path).isIgnored).toBe(isIgnored)
  })

  it('enters a folder that is left out only if a later pattern may keep a part of it', () => {
    const examine = createIgnore('**\n!packages\n**/node_modules\n')
    expect(examine('docs')).toEqual({ isIgnored: true, mayHoldKept: true })
    expect(examine('packages/a/node_modules')).toEqual({ isIgnored: true, mayHoldKept: false })
  })

  it.each([
    [
      'stanzas',
      {
        'a.sources':
          'Types: deb\nURIs: http://security.example/debian-security\nComponents: main\n',
        'b.sources':
          'Enabled: no\nTypes: deb\nURIs: http://off.example/\nComponents: main\n\nTypes: deb\nURIs: http://own.example/debian\nSuites: stable\nComponents: main\n',
      },
    ],
    [
      'lines',
      {
        'sources.list':
          '# deb http://off.example/ stable main\ndeb-src http://off.example/ stable main\ndeb [signed-by=/k] http://own.example/debian stable main\n',
      },
    ],
  ])('reads the Debian mirror from the sources of apt, written as %s', (_, files) => {
    expect(findMirror(files)).toBe('http://own.example/debian')
    expect(findMirror({})).toBeNull()
  })
})
