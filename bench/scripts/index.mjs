import { authorize } from './authorize.mjs'
import { guarded } from './guarded.mjs'
import { introspect } from './introspect.mjs'
import { issue } from './issue.mjs'
import { refresh } from './refresh.mjs'

export const scripts = { authorize, guarded, introspect, issue, refresh }
