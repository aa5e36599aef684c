import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commands } from '../src/cli/commands/all-commands.ts'
import { runCli } from '../src/program.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

const folder = mkdtempSync(join(tmpdir(), 'tollgate-completion-'))
const installed = (shell: Shell) => spawnSync(shell, ['-c', 'true']).status === 0
const missing = SHELLS.filter((shell) => !installed(shell))
if (missing.length > 0) {
  console.log(`The completion of ${missing.join(' and ')} is not tested: install it to do so`)
}

async function print(...args: string[]) {
  const out: string[] = []
  const write = (text: string) => void out.push(text)
  const code = await runCli(['completion', ...args], {}, { stdout: { write }, stderr: { write } })
  return { code, text: out.join('') }
}

const scriptOf = (shell: Shell) => join(folder, `tollgate.${shell}`)

beforeAll(async () => {
  for (const shell of SHELLS) writeFileSync(scriptOf(shell), (await print(shell)).text)
  writeFileSync(join(folder, 'app.ts'), '')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Completes a line as the shell does, and returns the proposed words. */
const complete: Readonly<Record<Shell, (line: string) => string[]>> = {
  bash(line) {
    const words = line.split(' ')
    const quoted = words.map((word) => `'${word}'`).join(' ')
    const program = `source '${scriptOf('bash')}'
      COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _tollgate
      printf '%s\\n' "\${COMPREPLY[@]}"`
    return run('bash', ['--norc', '-c', program])
  },
  zsh(line) {
    // The functions of zsh that offer words need a terminal: here they print what they are given.
    const words = line.split(' ')
    const last = words.at(-1) ?? ''
    const program = `compdef() { :; }
      _describe() { [[ $1 == -o ]] && shift; for word in "\${(@P)2}"; do print -r -- "\${word%%:*}"; done; }
      compadd() { shift; print -rl -- "$@"; }
      _files() { print -rl -- \${PREFIX}*(N); }
      source '${scriptOf('zsh')}'
      words=(${words.map((word) => quote(word)).join(' ')}); CURRENT=${words.length}
      PREFIX=${quote(last)}; _tollgate`
    return run('zsh', ['-f', '-c', program]).filter((word) => word.startsWith(last))
  },
  fish(line) {
    const program = `source '${scriptOf('fish')}'; complete -C ${quote(line)}`
    const lines = run('fish', ['--no-config', '-c', program])
    return lines.map((each) => each.split('\t')[0] ?? '')
  },
}

const quote = (text: string) => `'${text}'`

function run(shell: Shell, args: string[]): string[] {
  const options = { cwd: folder, encoding: 'utf8', timeout: 60_000 } as const
  return execFileSync(shell, args, options).split('\n').filter(Boolean)
}

const groups = [...new Set(Object.keys(commands).map((words) => words.split(' ')[0] ?? ''))]

for (const shell of SHELLS) {
  describe.skipIf(missing.includes(shell))(`the completion of ${shell}`, () => {
    it('proposes all commands, and the subcommands of each group', () => {
      expect(complete[shell]('tollgate ').sort()).toEqual(groups.sort())
      expect(complete[shell]('tollgate keys ').sort()).toEqual([
        'list',
        'reseal',
        'revoke',
        'rotate',
      ])
      expect(complete[shell]('tollgate cli')).toEqual(['client'])
      expect(complete[shell]('tollgate billing webhooks ch')).toEqual(['check'])
    })

    it('proposes the options of a command, and the values of an option', () => {
      const options = complete[shell]('tollgate client secret abc --')
      expect(options.sort()).toEqual([
        '--as',
        '--config',
        '--help',
        '--json',
        '--leaked',
        '--overlap',
      ])
      expect(complete[shell]('tollgate keys rotate --algorithm E').sort()).toEqual([
        'ES256',
        'EdDSA',
      ])
      expect(complete[shell]('tollgate client update abc --name ')).toEqual([])
      expect(complete[shell]('tollgate completion ').sort()).toEqual(['bash', 'fish', 'zsh'])
    })

    it('takes into account options before the command, and completes the path of --config', () => {
      expect(complete[shell]('tollgate --as user --config app.ts keys ro')).toEqual(['rotate'])
      expect(complete[shell]('tollgate --config ap').map((each) => each.trim())).toEqual(['app.ts'])
    })
  })
}

it('tollgate completion rejects an unknown shell, and prints JSON with --json', async () => {
  expect(await print('tcsh')).toEqual({
    code: 2,
    text: 'The shell must be one of bash, zsh, fish, not "tcsh"\n',
  })
  const { text } = await print('bash', '--json')
  expect(JSON.parse(text)).toEqual({ shell: 'bash', script: (await print('bash')).text.trimEnd() })
})
