import { programPath } from './npm.mjs'
import { installFromPip, pythonIn } from './pip.mjs'

/** A Django application that keeps a copy of an account in its database. */
export const djStripe = {
  name: 'dj-stripe',
  versions: ['2.11'],
  needs: ['python3'],
  // Simulates a sandbox that has been running for a while: Django rejects signatures older than
  // five minutes.
  flags: () => ['--now', new Date(Date.now() - 600_000).toISOString()],
  install: (folder, version) => installFromPip(folder, [`dj-stripe==${version}.*`]),
  run: (folder) => [pythonIn(folder), '-B', programPath('copy_of_an_account.py')],
}
