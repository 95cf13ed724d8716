"""One GET again and again by each of Locust's users; THROUGHPUT a second of each user where it is given."""

import os

from locust import FastHttpUser, constant, constant_throughput, task


class Reader(FastHttpUser):
    throughput = os.environ.get("THROUGHPUT")
    wait_time = constant_throughput(float(throughput)) if throughput else constant(0)

    @task
    def read(self):
        self.client.get(os.environ["READ_PATH"])
