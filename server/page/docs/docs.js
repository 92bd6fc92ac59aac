// The viewer is dark where the system is, and asks this server, also behind a proxy's prefix.
const viewer = document.querySelector('rapi-doc')
const here = new URL('.', location.href).href.replace(/\/$/, '')
viewer.setAttribute('server-url', here)
viewer.setAttribute('default-api-server', here)
viewer.setAttribute('theme', matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')
