import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { programPath } from './npm.mjs'
import { run } from './processes.mjs'

const FILES = [
  'shop.go',
  'discounts_basil.go',
  'discounts_clover.go',
  'lists_before_85.go',
  'lists_since_85.go',
]

/**
 * Stripe's SDK for Go. Each major version has another import path, which is inserted into the
 * program.
 */
export const stripeGo = {
  name: 'stripe-go',
  versions: ['82', '83', '84', '85'],
  needs: ['go'],
  async install(folder, version) {
    await writeFile(join(folder, 'go.mod'), 'module shop\n\ngo 1.22\n')
    for (const file of FILES) {
      const text = await readFile(programPath(`go/${file}`), 'utf8')
      const path = `github.com/stripe/stripe-go/v${version}`
      await writeFile(join(folder, file), text.replaceAll('github.com/stripe/stripe-go/v85', path))
    }
    await run('go', ['get', `github.com/stripe/stripe-go/v${version}@latest`], { cwd: folder })
    const tags = [...(version < 83 ? ['basil'] : []), ...(version < 85 ? ['before85'] : [])]
    await run('go', ['build', '-tags', tags.join(','), '-o', 'shop', '.'], { cwd: folder })
  },
  run: (folder) => [join(folder, 'shop')],
}
