import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'
import { installFromNpm } from './npm.mjs'

const POSTGRES = fileURLToPath(
  new URL('../../../../test-support/postgres-server.ts', import.meta.url),
)

/** Copies an account into Postgres, using the server of our tests. */
export const syncEngine = {
  name: '@supabase/stripe-sync-engine',
  versions: ['0.48'],
  needs: ['npm'],
  install: (folder, version) =>
    installFromNpm(
      folder,
      [`@supabase/stripe-sync-engine@${version}`, 'stripe@23'],
      'copy-into-postgres.mjs',
    ),
  // The sandbox's clock stands still, and the client ignores data that is older than its copy.
  flags: () => ['--now', new Date(Date.now() + 240_000).toISOString()],
  async setUp() {
    // Loads our tests' TypeScript.
    const vite = await createServer({
      configFile: false,
      appType: 'custom',
      server: { middlewareMode: true, hmr: false, ws: false, watch: null },
      optimizeDeps: { noDiscovery: true },
    })
    const { startPostgresServer } = await vite.ssrLoadModule(POSTGRES)
    const server = await startPostgresServer()
    async function tearDown() {
      await server.remove()
      await vite.close()
    }
    return { env: { DATABASE_URL: server.url }, tearDown }
  },
  run: () => [process.execPath, 'copy-into-postgres.mjs'],
}
