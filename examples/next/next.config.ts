import { fileURLToPath } from 'node:url'
import type { NextConfig } from 'next'

const config: NextConfig = {
  // Node must load drivers and fonts itself, and all routes must share one copy of each class.
  serverExternalPackages: ['@tollgate/oauth', '@tollgate/billing', '@tollgate/database'],
  // Needed only in a monorepo, where node_modules is in a parent folder.
  turbopack: { root: fileURLToPath(new URL('../..', import.meta.url)) },
}

export default config
