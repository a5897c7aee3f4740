# SPDX-License-Identifier: MIT
# Programs that ask a small model for text in many ways, and write down what they did:
# torch_generate.py FILE WHAT. The model has random weights; nothing is fetched. It is one of
# transformers where WHAT depends on what transformers does, else one of torch alone: to import
# transformers takes longer than all else.
import json
import os
import sys
import threading

os.environ["HF_HUB_OFFLINE"] = "1"
import torch


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(97, 32)
        self.layers = torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.Tanh(),
                                          torch.nn.Linear(32, 97))

    def forward(self, ids):
        x = self.embedding(ids)
        return self.layers(x + x.cumsum(1))

    @torch.no_grad()
    def generate(self, input_ids, max_new_tokens, eos_token_id=None):
        for _ in range(max_new_tokens):
            token = self(input_ids)[:, -1:].argmax(-1)
            input_ids = torch.cat([input_ids, token], 1)
            if eos_token_id is not None and (token == eos_token_id).all():
                break
        return input_ids


def small():
    if sys.argv[2] not in ("same", "batch", "beam", "pipe"):
        return Small(), {}
    from transformers import GPT2Config, GPT2LMHeadModel
    return GPT2LMHeadModel(GPT2Config(
        vocab_size=97, n_positions=128, n_embd=32, n_layer=2, n_head=2, bos_token_id=1,
        eos_token_id=None, pad_token_id=0)), {"do_sample": False}


counts = {"requests": 0, "passes": 0, "tokens": 0}
lock = threading.Lock()
torch.manual_seed(1)
torch.set_num_threads(1)
model, greedy = small()
model.eval()
counts["model"] = type(model).__name__
inner = type(model).forward


# counts the passes themselves, whatever generate() makes of what it was asked for
def forward(self, *args, **kwargs):
    with lock:
        counts["passes"] += 1
    return inner(self, *args, **kwargs)


type(model).forward = forward


def prompt(batch=1):
    return torch.randint(1, 97, (batch, 5))


def ask(ids, tokens, **options):
    before = counts["passes"]
    if greedy:
        options["attention_mask"] = torch.ones_like(ids)
    out = model.generate(input_ids=ids, max_new_tokens=tokens, **greedy, **options)
    with lock:
        counts["requests"] += 1
        counts["tokens"] += len(ids) * (tokens if "eos_token_id" not in options else
                                        counts["passes"] - before)
    return out


def same():
    # nothing runs between two requests
    ids = prompt()
    mask = torch.ones_like(ids)
    for _ in range(6):
        model.generate(input_ids=ids, attention_mask=mask, do_sample=False, max_new_tokens=12)
    counts["requests"], counts["tokens"] = 6, 72


def batch():
    for i in range(4):
        ask(prompt(1 + i % 2), 9 + i)


def beam():
    for _ in range(3):
        ask(prompt(2), 8, num_beams=3)


def early():
    ids = prompt()
    first = int(ask(ids, 6)[0, -1])
    for _ in range(3):
        ask(ids, 20, eos_token_id=first)


def threads():
    every = [threading.Thread(target=ask, args=(prompt(), 7 + i)) for i in range(4)]
    for thread in every:
        thread.start()
    for thread in every:
        thread.join()


def loop():
    # passes alone, with nothing between them
    ids = prompt(2)
    with torch.no_grad():
        for _ in range(15):
            model(ids)


def stream():
    ids = prompt()
    for _ in range(15):
        logits = model(ids)
        ids = torch.cat([ids, logits[:, -1:].argmax(-1)], 1)


def own():
    # a function of the user's, whose first op comes back with each token
    def generate(ids, tokens):
        for _ in range(tokens):
            ids = torch.cat([ids, model(ids[:, -32:])[:, -1:].argmax(-1)], 1)
        return ids

    ids = prompt(2)
    with torch.no_grad():
        for _ in range(5):
            generate(ids, 11)
    counts["requests"], counts["tokens"] = 5, 110


def tokens_of(ids, tokens):
    for _ in range(tokens):
        ids = torch.cat([ids, model(ids[:, -32:])[:, -1:].argmax(-1)], 1)


def ranges():
    # requests that no function is named after; passes before, between and after are in none, as are
    # those in a range of another name
    ids = prompt(2)
    with torch.no_grad():
        for i in range(5):
            with torch.profiler.record_function(f"request {i}"):
                tokens_of(ids, 8 + i)
            counts["requests"] += 1
            counts["tokens"] += 2 * (8 + i)
            with torch.profiler.record_function("requests waiting"):
                tokens_of(ids, 3)
    counts["in"] = sum(8 + i for i in range(5))


def agent():
    # a request that asks twice, and one within another range that is one
    for i in range(3):
        with torch.profiler.record_function(f"LLM_request[{i}]"):
            with torch.profiler.record_function("request"):
                ask(prompt(), 5)
            ask(prompt(), 6 + i)
    counts["requests"] = 3


def inside():
    # a range within generate() is not one more request
    def generate(ids, tokens):
        for i in range(tokens):
            ids = torch.cat([ids, ids[:, :1]], 1)
            with torch.profiler.record_function(f"generate {i}"):
                model(ids[:, -32:])

    with torch.no_grad():
        for _ in range(4):
            generate(prompt(), 7)
    counts["requests"], counts["tokens"] = 4, 28


def pipe():
    # a pipeline asks generate(): one request each, not two
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, pipeline

    words = Tokenizer(models.WordLevel({f"w{i}": i for i in range(97)}, unk_token="w0"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="w0", unk_token="w0")
    asks = pipeline("text-generation", model=model, tokenizer=tokenizer, device="cpu")
    for i in range(4):
        asks("w3 w4 w5", max_new_tokens=6 + i, do_sample=False)
        counts["requests"] += 1
        counts["tokens"] += 6 + i


class Stop(Exception):
    pass


def raises():
    def fail(self, *args, **kwargs):
        out = forward(self, *args, **kwargs)
        if counts["passes"] % 5 == 0:
            raise Stop
        return out

    type(model).forward = fail
    for _ in range(3):
        try:
            ask(prompt(), 30)
        except Stop:
            counts["requests"] += 1
            counts["tokens"] += 5


def trains():
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(6):
        ids = prompt(2)
        torch.nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
    counts["steps"] = 6


def waits():
    # until a file says so: what is attached to meanwhile
    model.generate(input_ids=prompt(), max_new_tokens=5)
    counts.update(passes=0)
    print("ready", flush=True)
    while not os.path.exists(sys.argv[3]):
        torch.ones(4).add_(1)
        threading.Event().wait(0.01)
    counts.update(passes=0, requests=0, tokens=0)
    for i in range(4):
        ask(prompt(), 10 + i)


globals()[sys.argv[2]]()
with open(sys.argv[1], "w") as out:
    json.dump(counts, out)
print("done")
