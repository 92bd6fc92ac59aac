"""Two DMALA samplers for infilling, in PyTorch: what infill is measured against.

Both sample theta (one token per blank) from pi(theta) ~ exp(U(theta)),

    U(theta) = sum_i log f(theta_i | the sentence with blank i masked, the other blanks filled),

restricted to the tokens allowed at each blank, with the proposal of Zhang, Liu & Liu (ICML 2022)

    q_i(v) ~ exp(1/2 (G_i[v] - G_i[theta_i]) - 1/alpha [v != theta_i]),   G the gradient of U

at the one-hot extension, and a Metropolis-Hastings step. All chains go through the model together.
"""

import torch


class Straightforward:
    """DMALA as one writes it down: one-hot vectors, automatic differentiation, logits at every
    position, the gradient at the current and at the proposed state in every step."""

    def __init__(self, model, sentence, alpha, states, seed):
        self.model, self.alpha = model, alpha
        self.table = model.get_input_embeddings().weight  # [V, H]
        self.ids = torch.tensor(sentence["ids"])
        self.positions = sentence["positions"]
        self.mask = sentence["mask"]
        self.vocab = self.table.shape[0]
        allowed = torch.full((len(self.positions), self.vocab), -torch.inf)
        for i, ids in enumerate(sentence["allowed"]):
            allowed[i, ids] = 0
        self.allowed = allowed  # [m, V]: 0 or -inf
        self.theta = torch.tensor(states)  # [C, m]
        self.generator = torch.Generator().manual_seed(seed)

    def energy(self, onehot):
        """U of [C, m, V] one-hot vectors: m rows per chain, in row i blank i is masked."""
        chains, m, _ = onehot.shape
        filled = onehot @ self.table  # [C, m, H]
        rows = self.table[self.ids].expand(chains, m, -1, -1).clone()
        for j, p in enumerate(self.positions):
            rows[:, :, p] = filled[:, j : j + 1]
        for i, p in enumerate(self.positions):
            rows[:, i, p] = self.table[self.mask]
        logits = self.model(inputs_embeds=rows.flatten(0, 1)).logits.unflatten(0, (chains, m))
        own = logits[:, torch.arange(m), self.positions]  # [C, m, V]
        return (onehot * own.log_softmax(-1)).sum((1, 2))

    def energy_and_gradient(self, theta):
        onehot = torch.nn.functional.one_hot(theta, self.vocab).float().requires_grad_()
        u = self.energy(onehot)
        (gradient,) = torch.autograd.grad(u.sum(), onehot)
        return u.detach(), gradient

    def proposal(self, theta, gradient):
        here = gradient.gather(-1, theta[..., None])
        logits = (gradient - here) / 2 - 1 / self.alpha + self.allowed
        logits.scatter_(-1, theta[..., None], 0.0)
        return logits.log_softmax(-1)

    def step(self):
        u, gradient = self.energy_and_gradient(self.theta)
        forward = self.proposal(self.theta, gradient)
        proposed = draw(forward, self.generator)
        u2, gradient2 = self.energy_and_gradient(proposed)
        backward = self.proposal(proposed, gradient2)
        la = u2 - u + log_q(backward, self.theta) - log_q(forward, proposed)
        accept = torch.rand(la.shape, generator=self.generator).log() < la
        moved = (proposed != self.theta).any(-1)
        self.theta = torch.where(accept[:, None], proposed, self.theta)
        return torch.where(accept, u2, u), la.clamp(max=0).exp(), moved


class Saving:
    """The same with the savings that one finds at once: the head at the masked position only, the
    gradient at the embeddings of the blanks and no other, weights frozen, the energy and the
    gradient of the current state kept, everything but the model itself without autograd, and only
    the allowed tokens in the proposal."""

    def __init__(self, model, sentence, alpha, states, seed):
        self.model, self.alpha = model, alpha
        self.table = model.get_input_embeddings().weight.detach()
        self.positions = torch.tensor(sentence["positions"])
        self.base = self.table[torch.tensor(sentence["ids"])]  # [L, H]
        self.masked = self.table[sentence["mask"]]
        self.same = all(a == sentence["allowed"][0] for a in sentence["allowed"])
        self.allowed = [torch.tensor(a) for a in sentence["allowed"]]
        if not self.same:
            raise ValueError("all blanks must allow the same tokens")
        self.allowed = self.allowed[0]  # [K]
        self.number = torch.full((len(self.table),), -1)
        self.number[self.allowed] = torch.arange(len(self.allowed))
        self.theta = torch.tensor(states)
        self.generator = torch.Generator().manual_seed(seed)
        self.u, self.gradient = self.energy_and_gradient(self.theta)

    def energy_and_gradient(self, theta):
        chains, m = theta.shape
        own = torch.arange(m)
        with torch.enable_grad():
            filled = self.table[theta].requires_grad_()  # [C, m, H]
            rows = self.base.repeat(chains, m, 1, 1)
            rows[:, :, self.positions] = filled[:, None].expand(-1, m, -1, -1)
            rows[:, own, self.positions] = self.masked
            hidden = self.model.bert(inputs_embeds=rows.flatten(0, 1)).last_hidden_state
            at = hidden[torch.arange(chains * m), self.positions.repeat(chains)]  # [C·m, H]
            logp = self.model.cls(at).log_softmax(-1).unflatten(0, (chains, m))  # [C, m, V]
            u = logp.gather(-1, theta[..., None])[..., 0].sum(-1)
            (g,) = torch.autograd.grad(u.sum(), filled)
        return u.detach(), logp.detach() + g @ self.table.T

    def proposal(self, theta, gradient):
        here = gradient.gather(-1, theta[..., None])
        logits = (gradient[..., self.allowed] - here) / 2 - 1 / self.alpha
        logits.scatter_(-1, self.number[theta][..., None], 0.0)
        return logits.log_softmax(-1)

    @torch.no_grad()
    def step(self):
        forward = self.proposal(self.theta, self.gradient)
        choice = draw(forward, self.generator)
        proposed = self.allowed[choice]
        u2, gradient2 = self.energy_and_gradient(proposed)
        backward = self.proposal(proposed, gradient2)
        la = u2 - self.u + log_q(backward, self.number[self.theta]) - log_q(forward, choice)
        accept = torch.rand(la.shape, generator=self.generator).log() < la
        moved = (proposed != self.theta).any(-1)
        self.theta = torch.where(accept[:, None], proposed, self.theta)
        self.u = torch.where(accept, u2, self.u)
        self.gradient = torch.where(accept[:, None, None], gradient2, self.gradient)
        return self.u, la.clamp(max=0).exp(), moved


def draw(logp, generator):
    flat = logp.exp().flatten(0, -2)
    return torch.multinomial(flat, 1, generator=generator)[:, 0].view(logp.shape[:-1])


def log_q(logp, theta):
    return logp.gather(-1, theta[..., None])[..., 0].sum(-1)


VARIANTS = {"straightforward": Straightforward, "saving": Saving}
