import { fileURLToPath } from 'node:url'
import type { NextConfig } from 'next'

const config: NextConfig = {
  // Drivers and fonts are files that Node loads itself; and one copy of each class serves all routes.
  serverExternalPackages: ['@tollgate/oauth', '@tollgate/billing', '@tollgate/database'],
  // Only needed in a monorepo, where node_modules is further up.
  turbopack: { root: fileURLToPath(new URL('../..', import.meta.url)) },
}

export default config
